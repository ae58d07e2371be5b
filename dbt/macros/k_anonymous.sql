{# Fails for every equivalence class of the columns with fewer than k records; missing is a value. #}
{% test k_anonymous(model, columns, k=5) %}
select {% for column in columns %}{{ adapter.quote(column) }}, {% endfor %}count(*) as class_size
from {{ model }}
group by {% for column in columns %}{{ adapter.quote(column) }}{{ ", " if not loop.last }}{% endfor %}

having count(*) < {{ k | int }}
{% endtest %}
